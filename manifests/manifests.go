// Package manifests holds what is applied to a cluster to install olmgate: kustomizations, and a Helm chart that gives
// the same objects.
package manifests

import "embed"

// FS has the folders base, components, overlays, transformers and chart. The names in base are those that olmgate
// itself expects.
//
//go:embed all:base all:components all:overlays all:transformers all:chart
var FS embed.FS
