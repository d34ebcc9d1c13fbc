// Package image reads the content of a catalog out of its container image, as catalogd does: it pulls the image from a
// registry into a content-addressed cache, applies the layers, and reads the File-Based Catalog below the directory that
// a label of the image names. Nothing is unpacked to disk.
//
//	images, err := image.New(image.Options{CacheDir: dir})
//	if err != nil { ... }
//	content, err := images.Load(ctx, "example.com/catalogs/hub:v1")
//
// A registry and what it serves are taken for hostile: digests are verified on every read, also of the cache; sizes,
// counts, nesting and times are bounded; plain HTTP is for this machine only; a layer cannot reach out of the directory.
// Credentials come from where Docker and Podman keep them.
package image
