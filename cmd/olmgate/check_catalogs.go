package main

import (
	"context"
	"fmt"
	"os"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	engine "github.com/olmgate/olmgate/check"
)

// knownCatalogs reads the catalogs of files or of the cluster. With --offline and no files there are none but those of
// the inputs.
func (o *checkOptions) knownCatalogs(ctx context.Context, s streams, options *engine.Options) error {
	f := o.catalogs
	pull := f.pull
	if f.pull && f.dir == "" {
		f.pull = false // it is about the manifests of the inputs then
	}
	if pull {
		images, err := f.images.source()
		if err != nil {
			return err
		}
		options.Pull = func(ctx context.Context, cc *ocv1.ClusterCatalog) (catalog.Content, error) {
			ref, _ := source.ImageOf(cc)
			if ref == "" {
				return catalog.Content{Problem: "its manifest names no image"}, nil
			}
			content, err := images.Load(ctx, ref)
			if err != nil {
				return catalog.Content{}, err
			}
			return catalog.Content{Index: content.Index}, nil
		}
	}
	if !f.offline() && (f.images.offline || pull) {
		options.NoSource = true
		return f.images.check()
	}
	list, err := f.gather(ctx, s)
	if err != nil {
		return permitted(err)
	}
	for _, g := range list {
		options.Catalogs = append(options.Catalogs, engine.Known{Object: g.cc, Catalog: g.catalog})
	}
	return nil
}

// installedState reads what is installed from where --installed says.
func (o *checkOptions) installedState(ctx context.Context, s streams, options *engine.Options) error {
	if o.installed == "" {
		return nil
	}
	var list []extension
	from := "file"
	if o.installed == "cluster" {
		from = "cluster"
		all, err := (&judgeFlags{catalogs: o.catalogs}).everything(ctx, s)
		if err != nil {
			return err
		}
		list = all
	} else {
		if _, err := os.Stat(o.installed); err != nil {
			return unreadable(o.installed, err)
		}
		r := &reader{in: s.in}
		if err := r.read(o.installed); err != nil {
			return fmt.Errorf("--installed: %w", err)
		}
		list = r.found
	}
	options.InstalledFrom = from
	options.Installed = map[string]*ocv1.ClusterExtension{}
	for i := range list {
		options.Installed[list[i].object.Name] = list[i].object
	}
	return nil
}
