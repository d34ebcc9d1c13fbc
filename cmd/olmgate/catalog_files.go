package main

import (
	"context"
	"errors"

	ocv1 "github.com/operator-framework/operator-controller/api/v1"
	"golang.org/x/sync/errgroup"

	"github.com/olmgate/olmgate/catalog"
	"github.com/olmgate/olmgate/catalog/source"
	"github.com/olmgate/olmgate/catalog/source/image"
	"github.com/olmgate/olmgate/resolver"
)

// find describes the catalogs of files: those of snapshots, over them those of the directory and those given by hand.
func (f *catalogFlags) find(s streams) ([]source.Offline, error) {
	var byHand []source.ByHand
	for _, text := range f.byHand {
		one, err := source.ParseByHand(text)
		if err == nil && one.Image != "" {
			err = image.Check(one.Image)
		}
		if err != nil {
			return nil, err
		}
		byHand = append(byHand, one)
	}
	var found []source.Offline
	for _, file := range f.snapshots {
		more, err := source.OpenSnapshot(file, catalog.Limits{})
		if err != nil {
			return nil, err
		}
		found = overlay(s, found, more)
	}
	if f.dir == "" && len(byHand) == 0 {
		return found, nil
	}
	more, err := source.Discover(f.dir, byHand...)
	if err != nil {
		return nil, err
	}
	if len(more) == 0 {
		s.say("warning: %s is empty, so there is no catalog", f.dir)
	}
	return overlay(s, found, more), nil
}

func overlay(s streams, below, above []source.Offline) []source.Offline {
	all, replaced := source.Overlay(below, above)
	for _, text := range replaced {
		s.say("%s", text)
	}
	return all
}

func (f *catalogFlags) gatherFiles(ctx context.Context, s streams) ([]gathered, error) {
	found, err := f.find(s)
	if err != nil {
		return nil, err
	}
	images, err := f.images.source()
	if err != nil {
		return nil, err
	}
	list := make([]gathered, len(found))
	problems := make([]error, len(found))
	var group errgroup.Group
	group.SetLimit(2)
	for i, o := range found {
		group.Go(func() error {
			list[i], problems[i] = f.read(ctx, o, images)
			return nil
		})
	}
	_ = group.Wait() // the problems are kept in the catalogs' order
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for i, o := range found {
		if x := list[i].catalog.Content.Index; x != nil && o.Path != "" && x.Stats().Blobs == 0 {
			s.say("warning: %s is empty, so catalog %s has no package", o.Path, o.Catalog.Name)
		}
	}
	return list, nil
}

// read brings the content of one catalog.
func (f *catalogFlags) read(ctx context.Context, o source.Offline, images *image.Source) (gathered, error) {
	cc := o.Catalog
	ref, _ := source.ImageOf(cc)
	switch {
	case o.Content != nil:
		return gathered{cc, resolver.NewOfflineCatalog(cc, *o.Content)}, nil
	case o.Image != "":
		return pulled(ctx, cc, o.Image, images)
	case o.Path != "":
		index, err := o.Load(catalog.Limits{})
		return gathered{cc, resolver.NewOfflineCatalog(cc, catalog.Content{Index: index})}, err
	case f.pull && ref != "" && cc.Spec.AvailabilityMode != ocv1.AvailabilityModeUnavailable && cc.DeletionTimestamp == nil:
		return pulled(ctx, cc, ref, images)
	}
	problem := "there is no file or directory with it (--catalog NAME=PATH gives one)"
	if ref != "" && !f.pull {
		problem = "there is no file or directory with it (--catalog NAME=PATH gives one, --pull takes the image)"
	}
	return gathered{cc, resolver.NewOfflineCatalog(cc, catalog.Content{Problem: problem})}, nil
}

// pulled reads the content out of an image, and notes which it was.
func pulled(ctx context.Context, cc *ocv1.ClusterCatalog, ref string, images *image.Source) (gathered, error) {
	content, err := images.Load(ctx, ref)
	if err != nil {
		return gathered{}, err
	}
	cc = cc.DeepCopy()
	source.SetImage(cc, ref, content.Resolved)
	return gathered{cc, resolver.NewOfflineCatalog(cc, catalog.Content{Index: content.Index})}, nil
}
