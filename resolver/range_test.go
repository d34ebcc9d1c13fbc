package resolver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	mm "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"
	ocv1 "github.com/operator-framework/operator-controller/api/v1"
)

func TestWhatIsInARange(t *testing.T) {
	for text, versions := range map[string]map[string]bool{
		"1.2.3":                  {"1.2.3": true, "1.2.3+5": true, "1.2.4": false, "1.2.3-rc.1": false},
		"1.2.3+9":                {"1.2.3": true, "1.2.3+5": true, "1.2.4": false},
		"1.2":                    {"1.2.0": true, "1.2.9": true, "1.3.0": false},
		"1":                      {"1.0.0": true, "1.9.9": true, "2.0.0": false},
		"*":                      {"1.0.0": true, "1.0.0-rc.1": false},
		">=1.0.0":                {"1.3.0-rc.1": false, "2.0.0": true},
		">=1.0.0-0":              {"1.3.0-rc.1": true, "2.0.0-0": true},
		">=1.0.0-0, <2.0.0":      {"2.0.0-0": true, "2.0.0": false},
		"<1.0.0 || >=2.0.0-0":    {"0.9.0-rc.1": false, "2.1.0-rc.1": true},
		"~1.2.3":                 {"1.2.3": true, "1.2.9": true, "1.3.0": false},
		"^0.2":                   {"0.2.7": true, "0.3.0": false},
		">1.2":                   {"1.2.9": false, "1.3.0": true},
		">1.2.3+1":               {"1.2.3": false, "1.2.3+2": false, "1.2.4": true},
		"1.0.0 2.0.0":            {"1.0.0": false, "2.0.0": false},
		"v1.2.3":                 {"1.2.3": true},
		">=1.0.0 <1.1.0,!=1.0.5": {"1.0.5": false, "1.0.6": true},
	} {
		c, err := mm.NewConstraint(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for version, want := range versions {
			v := semver.MustParse(version)
			if got := inRange(c, &v); got != want {
				t.Errorf("%s in %q: %v, want %v", version, text, got, want)
			}
		}
	}
}

func TestWhichRangesNothingSatisfies(t *testing.T) {
	for text, want := range map[string]bool{
		">=1.3.0 <1.2.0": false, "1.2.3 2.0.0": false, ">=1.0.0 <1.0.0": false, ">1.0.0 <1.0.1": false, ">1.0.0-0 <1.0.0-0.0": false,
		"<0.0.0": false, "<0.0.0-0": false, "1.x 2.x": false, "=1.0.0, !=1.0.0": false, "~1.2 >=1.3.0": false,
		">1.0.0 <1.0.2": true, ">1.0.0-0 <1.0.1": true, ">=1.3.0 <1.2.0 || 1.x": true, "*": true, "!=1.0.0": true, "<0.0.1": true,
		"<=0.0.0-0": true, ">1.0.0-a <1.0.0-a.1": true, "!=1.x !=2.x": true, ">18446744073709551615.0.0": true, "^0.0.0": true,
		"!=1.0.0 !=1.0.1 !=1.0.2 >=1.0.0 <1.0.4": true, ">1.2 <1.3.1": true, "=1.0.0-rc.1 !=1.0.0": true,
	} {
		c, err := mm.NewConstraint(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := satisfiable(c, text); got != want {
			t.Errorf("%q: satisfiable %v, want %v", text, got, want)
		}
	}
}

// FuzzVersionRange compares with the library that the field documents: the same ranges are read, and none is called
// impossible that some version is in.
func FuzzVersionRange(f *testing.F) {
	for _, seed := range []string{"1.2.3", ">=1.2.0 <2.0.0", "~1.2", "^1.2.0-0", "1.x || 2.x", "*", "!=1.0.0", ">=1.3.0 <1.2.0", "1.0.0 - 2.0.0", "v1", "=>1, =<2", "~>1.2.3+4", ">1.0.0-a <1.0.0-b", "X.x.*", "latest", "1.2.3-01", ">=|", "|.1.2", "99999999999999999999.0.0", ">1 <1.0.0-0", "!=1.2.x-0", "<0.0.0-0.0", " ", "", "<1.0.0-0.0.0.0.0.1 >1.0.0-0"} {
		f.Add(seed, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		c, err := mm.NewConstraint(text)
		ext := &ocv1.ClusterExtension{}
		ext.Spec.Source.Catalog = &ocv1.CatalogFilter{PackageName: "kiln", Version: text}
		v := Resolve(ext, nil, RulePackage)
		if refused := v.Reason == InvalidVersionRange; refused != (err != nil && text != "") {
			t.Fatalf("%q: reason %s, the library says %v", text, v.Reason, err)
		}
		if err != nil || text == "" {
			return
		}
		if satisfiable(c, text) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for range 300 {
			if probe := probeVersion(r, text); c.Check(probe) {
				t.Fatalf("%q is called impossible, and %s is in it", text, probe)
			}
		}
	})
}

// probeVersion is a version near one that the range names, or anywhere.
func probeVersion(r *rand.Rand, text string) *mm.Version {
	major, minor, patch, pre := r.Uint64N(4), r.Uint64N(4), r.Uint64N(4), ""
	if list := bounds(text); len(list) > 0 && r.IntN(8) > 0 {
		b := list[r.IntN(len(list))]
		near := func(n uint64) uint64 { return n + r.Uint64N(3) - min(n, 1)*r.Uint64N(2) }
		major, minor, patch, pre = near(b.Major()), near(b.Minor()), near(b.Patch()), b.Prerelease()
		if r.IntN(2) == 0 {
			major = b.Major()
		}
		if r.IntN(2) == 0 {
			minor = b.Minor()
		}
	}
	switch r.IntN(5) {
	case 0:
		pre = ""
	case 1:
		pre = fmt.Sprint(r.IntN(3))
	case 2:
		if pre != "" {
			pre += fmt.Sprintf(".%d", r.IntN(3))
		}
	case 3:
		pre = "rc." + fmt.Sprint(r.IntN(3))
	}
	return mm.New(major, minor, patch, pre, "")
}
