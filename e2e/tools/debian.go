package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Packages are the Debian packages of a node, with the libraries that a small
// installation of Debian lacks. They are unpacked and never installed.
var Packages = []string{
	"containerd", "containernetworking-plugins", "nftables", "runc",
	"libbsd0", "libedit2", "libgmp10", "libjansson4", "libmd0", "libmnl0", "libnftables1", "libnftnl11", "libseccomp2",
	"libtinfo6", "libxtables12",
}

// EnsurePackages returns a folder with the unpacked Packages, in the versions that
// apt serves when they are fetched for the first time.
func EnsurePackages(ctx context.Context, progress io.Writer) (string, error) {
	dir, err := packagesDir(ctx)
	if err != nil || unpacked(dir) {
		return dir, err
	}
	unlock, err := lock(ctx, progress, dir+".lock")
	if err != nil {
		return "", fmt.Errorf("waiting for another download of packages: %w", err)
	}
	defer unlock()
	if unpacked(dir) {
		return dir, nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "fetching-")
	if err != nil {
		return "", fmt.Errorf("making a folder for packages: %w", err)
	}
	defer os.RemoveAll(temp)
	fmt.Fprintf(progress, "fetching Debian packages: %s\n", strings.Join(Packages, ", "))
	root := filepath.Join(temp, "root")
	if err := fetchPackages(ctx, temp); err != nil {
		return "", err
	}
	if err := unpackPackages(ctx, temp, root); err != nil {
		return "", err
	}
	if err := os.Rename(root, dir); err != nil {
		return "", fmt.Errorf("putting packages into the cache: %w", err)
	}
	return dir, nil
}

// FindPackages is EnsurePackages for callers that must not wait for a download:
// it returns ErrAbsent when the packages are not there.
func FindPackages(ctx context.Context) (string, error) {
	dir, err := packagesDir(ctx)
	if err == nil && !unpacked(dir) {
		err = fmt.Errorf("%w: Debian's %s; fetch with: go run ./e2e/tools/build -node", ErrAbsent, strings.Join(Packages[:4], ", "))
	}
	return dir, err
}

func unpacked(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// packagesDir names the cache folder after the release of Debian whose libraries
// the packages need.
func packagesDir(ctx context.Context) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	for _, program := range []string{"apt-get", "dpkg"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%w: a node needs Debian packages, and %s is not here: run on Debian or Ubuntu (%w)", ErrAbsent, program, err)
		}
	}
	architecture, err := exec.CommandContext(ctx, "dpkg", "--print-architecture").Output()
	if err != nil {
		return "", fmt.Errorf("asking dpkg for the architecture: %w", err)
	}
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("looking for the release of Debian: %w", err)
	}
	h := sha256.New()
	h.Write(architecture)
	h.Write(release)
	fmt.Fprintln(h, Packages)
	return filepath.Join(cache, "debian-"+hex.EncodeToString(h.Sum(nil))[:keyLength]), nil
}

// fetchPackages downloads with the package lists of the machine or, when these
// are missing or old, with lists of its own. It changes nothing outside of dir.
func fetchPackages(ctx context.Context, dir string) error {
	isolated := []string{"-q", "-o", "APT::Sandbox::User=root", "-o", "Dir::Cache=" + filepath.Join(dir, "cache")}
	download := append([]string{"download"}, Packages...)
	first := runIn(ctx, dir, "apt-get", slices.Concat(isolated, download)...)
	if first == nil {
		return nil
	}
	lists := filepath.Join(dir, "lists")
	isolated = append(isolated, "-o", "Dir::State::Lists="+lists)
	if err := os.MkdirAll(filepath.Join(lists, "partial"), 0o755); err != nil {
		return fmt.Errorf("making a folder for package lists: %w", err)
	}
	// One source of several that fails need not be the one that has the packages.
	update := runIn(ctx, dir, "apt-get", slices.Concat(isolated, []string{"update"})...)
	if second := runIn(ctx, dir, "apt-get", slices.Concat(isolated, download)...); second != nil {
		return fmt.Errorf("fetching Debian packages, check the sources of apt and the network: %w",
			errors.Join(first, update, second))
	}
	return nil
}

// unpackPackages extracts what was downloaded into dir, and notes its versions.
func unpackPackages(ctx context.Context, dir, root string) error {
	archives, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	if len(archives) != len(Packages) {
		return fmt.Errorf("fetching Debian packages: apt-get brought %d of %d", len(archives), len(Packages))
	}
	var versions bytes.Buffer
	for _, archive := range archives {
		if err := runIn(ctx, dir, "dpkg", "--extract", archive, root); err != nil {
			return fmt.Errorf("unpacking a Debian package: %w", err)
		}
		fmt.Fprintln(&versions, strings.TrimSuffix(filepath.Base(archive), ".deb"))
	}
	if err := os.WriteFile(filepath.Join(root, "VERSIONS"), versions.Bytes(), 0o644); err != nil {
		return fmt.Errorf("noting the versions of packages: %w", err)
	}
	return nil
}

// runIn runs a command in a folder; the error holds what it wrote.
func runIn(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(output)))
	}
	return nil
}
