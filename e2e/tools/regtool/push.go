package main

import (
	"flag"
	"fmt"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func push(args []string) error {
	flags := flag.NewFlagSet("push", flag.ExitOnError)
	target := targetFlags(flags)
	file := flags.String("file", "", "catalog file, or - for standard input")
	path := flags.String("path", "configs/catalog.yaml", "path of the catalog in the image")
	label := flags.String("label", "/configs", "value of the label that names the catalog folder; empty: no label")
	flags.Parse(args)

	ref, transport, err := target.open()
	if err != nil {
		return err
	}
	content, err := readCatalog(*file)
	if err != nil {
		return fmt.Errorf("reading catalog %s: %w", *file, err)
	}
	image, err := catalogImage(content, *path, *label)
	if err != nil {
		return fmt.Errorf("making a catalog image of %s: %w", *file, err)
	}
	if err := remote.Write(ref, image, transport); err != nil {
		return fmt.Errorf("pushing %s: %w", ref, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}

func digest(args []string) error {
	flags := flag.NewFlagSet("digest", flag.ExitOnError)
	target := targetFlags(flags)
	flags.Parse(args)

	ref, transport, err := target.open()
	if err != nil {
		return err
	}
	descriptor, err := remote.Head(ref, transport)
	if err != nil {
		return fmt.Errorf("asking for the digest of %s: %w", ref, err)
	}
	fmt.Println(descriptor.Digest)
	return nil
}
