package catalog

import "testing"

func TestVersionsAndReleases(t *testing.T) {
	release := func(s string) *string { return &s }
	const invalid = "invalid"
	for name, c := range map[string]struct {
		version string
		release *string
		want    string // version, a space, release
	}{
		"a plain version":                        {"1.2.3", nil, "1.2.3 "},
		"a prerelease":                           {"1.2.3-rc.1", nil, "1.2.3-rc.1 "},
		"build metadata is the release":          {"1.0.0+2", nil, "1.0.0 2"},
		"build metadata of several parts":        {"1.0.0+2.el9", nil, "1.0.0 2.el9"},
		"build metadata of words":                {"1.0.0-rc.1+git.abc", nil, "1.0.0-rc.1 git.abc"},
		"build metadata with a leading zero":     {"1.0.0+01", nil, "1.0.0+01 "},
		"build metadata too long for a release":  {"1.0.0+abcdefghijklmnopqrstu", nil, "1.0.0+abcdefghijklmnopqrstu "},
		"build metadata just short enough":       {"1.0.0+abcdefghijklmnopqrst", nil, "1.0.0 abcdefghijklmnopqrst"},
		"a release beside the version":           {"1.0.0", release("2"), "1.0.0 2"},
		"a release beats build metadata":         {"1.0.0+9", release("2"), "1.0.0+9 2"},
		"an empty release is unset":              {"1.0.0", release(""), "1.0.0 "},
		"an empty release, metadata none either": {"1.0.0+9", release(""), "1.0.0+9 "},
		"a release that is invalid":              {"1.0.0", release("01"), invalid},
		"a release with an empty part":           {"1.0.0", release("1..2"), invalid},
		"a release with a plus":                  {"1.0.0", release("1+2"), invalid},
		"a release that is too long":             {"1.0.0", release("123456789012345678901"), invalid},
		"no version":                             {"", nil, invalid},
		"a leading v":                            {"v1.0.0", nil, invalid},
		"two parts":                              {"1.0", nil, invalid},
		"four parts":                             {"1.0.0.0", nil, invalid},
		"a leading zero":                         {"01.0.0", nil, invalid},
		"a prerelease with a leading zero":       {"1.0.0-01", nil, invalid},
		"white space":                            {" 1.0.0", nil, invalid},
		"an empty prerelease":                    {"1.0.0-", nil, invalid},
		"a number beyond 64 bits":                {"99999999999999999999.0.0", nil, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			v, r, err := ParseVersion(c.version, c.release)
			got := v.String() + " " + r.String()
			if err != nil {
				got = invalid
			}
			if got != c.want {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

func TestReleasesInOrder(t *testing.T) {
	// Each is lower than all behind it.
	order := []string{"", "0", "1", "1.0", "1.1", "1.1.a", "1.a", "2", "2.el9", "10", "a", "a.0", "a.a", "b", "rc-1", "rc-2"}
	for i, lower := range order {
		for j, higher := range order {
			a, err := ParseRelease(lower)
			if err != nil {
				t.Fatal(err)
			}
			b, err := ParseRelease(higher)
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := a.Compare(b); got != want {
				t.Errorf("%q against %q: %d, want %d", lower, higher, got, want)
			}
			if a.String() != lower {
				t.Errorf("%q prints as %q", lower, a.String())
			}
		}
	}
}
