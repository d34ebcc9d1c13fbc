package main

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/olmgate/olmgate/catalog/source/image"
)

// imageFlags say how catalog images are pulled.
type imageFlags struct {
	cacheDir string
	mirrors  []string
	platform string
	// offline forbids every use of the network, of that to a cluster too.
	offline bool
}

func (f *imageFlags) add(to *pflag.FlagSet) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.cacheDir, "cache-dir", "", "`DIR` that keeps what was pulled; without it olmgate/images in the user's cache directory")
	flags.StringArrayVar(&f.mirrors, "registry-mirror", nil, "`FROM=TO`: ask the registry TO first for what is in FROM, both with or without the beginning of a path; can be repeated")
	flags.StringVar(&f.platform, "platform", "", "`OS/ARCH` of an image that is there for several; without it linux/amd64, or the only one")
	flags.BoolVar(&f.offline, "offline", false, "never use the network: images must be in the cache")
	addSection(to, "Images", flags)
}

func (f *imageFlags) check() error {
	_, err := f.source()
	return err
}

// source reads images as the flags say. It asks nobody yet.
func (f *imageFlags) source() (*image.Source, error) {
	o := image.Options{CacheDir: f.cacheDir, Offline: f.offline, Platform: f.platform}
	for _, text := range f.mirrors {
		m, err := image.ParseMirror(text)
		if err != nil {
			return nil, errors.New("--registry-mirror: " + err.Error())
		}
		o.Mirrors = append(o.Mirrors, m)
	}
	return image.New(o)
}
