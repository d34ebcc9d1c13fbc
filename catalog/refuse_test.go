package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsNoCatalogIsRefusedWithOffsetAndReason marks the offset with § in the text; it stands before the byte at
// fault, or before the object when the object as a whole is.
func TestWhatIsNoCatalogIsRefusedWithOffsetAndReason(t *testing.T) {
	good := kilnBlobs[0] + "\n"
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"an array":                                 {`§[{"schema":"olm.package"}]`, []string{"expected an FBC object", "[{"}},
		"a lone word":                              {`§hello`, []string{"expected an FBC object", "hello"}},
		"an array behind an object":                {good + `§[]`, []string{"expected an FBC object", "[]"}},
		"a bracket too many":                       {strings.TrimSpace(good) + `§}`, []string{"expected an FBC object"}},
		"a comma between objects":                  {strings.TrimSpace(good) + `§,` + good, []string{"expected an FBC object"}},
		"null behind an object":                    {good + ` §null`, []string{"expected an FBC object", "null"}},
		"a YAML document behind JSON":              {good + "§---\nschema: x\n", []string{"expected an FBC object", "---"}},
		"a value without quotes":                   {good + `{"schema":§olm.package}`, []string{"expected a value", fmt.Sprintf("begins at byte %d", len(good))}},
		"a key without quotes":                     {`{"schema":"x",§name:"n"}`, []string{"expected a key"}},
		"a comma at the end of an object":          {`{"schema":"x",§}`, []string{"expected a key"}},
		"a comma at the end of an array":           {`{"schema":"x","a":[1,§]}`, []string{"expected a value"}},
		"a missing comma":                          {`{"schema":"x" §"name":"n"}`, []string{"expected a comma"}},
		"a missing comma in an array":              {`{"schema":"x","a":[1 §2]}`, []string{"expected a comma"}},
		"a missing comma in properties":            {`{"schema":"x","properties":[{} §{}]}`, []string{"expected a comma"}},
		"a missing colon":                          {`{"schema"§"x"}`, []string{"expected a colon"}},
		"a missing colon further in":               {`{"schema":"x","a":{"b"§}}`, []string{"expected a colon"}},
		"brackets that do not match":               {`{"schema":"x","a":[1§}}`, []string{"expected a comma"}},
		"an escape that does not exist":            {`{"schema":"x","a":"b\§c"}`, []string{"invalid escape"}},
		"an escape of too few digits":              {`{"schema":"x","a":"b\u00§"}`, []string{"\\u escape"}},
		"an escape with a letter that is no digit": {`{"schema":"x","a":"\u00§g0"}`, []string{"\\u escape"}},
		"a line break in a string":                 {"{\"schema\":\"x\",\"a\":\"b§\nc\"}", []string{"control character"}},
		"a zero byte in a long skipped string":     {`{"schema":"x","a":"` + strings.Repeat("long ", 500) + "§\x00\"}", []string{"control character"}},
		"a control character in a key":             {"{\"schema\":\"x\",\"a§\tb\":1}", []string{"control character"}},
		"a number with a leading zero":             {`{"schema":"x","a":0§1}`, []string{"expected a comma"}},
		"a lone minus":                             {`{"schema":"x","a":-§}`, []string{"invalid number"}},
		"a plus sign":                              {`{"schema":"x","a":§+1}`, []string{"expected a value"}},
		"a number without decimals":                {`{"schema":"x","a":1.§}`, []string{"invalid number"}},
		"a number without an exponent":             {`{"schema":"x","a":1e+§,"b":1}`, []string{"invalid number"}},
		"a number that no float64 holds":           {`{"schema":"x","a":§1e999}`, []string{"number out of range"}},
		"a long number that no float64 holds":      {`{"schema":"x","a":§` + strings.Repeat("9", 400) + `}`, []string{"number out of range"}},
		"a word cut short":                         {`{"schema":"x","a":tru§}`, []string{"invalid literal"}},
		"a word in capitals":                       {`{"schema":"x","a":§True}`, []string{"expected a value"}},
		"a comment":                                {`{"schema":"x",§/* no */"a":1}`, []string{"expected a key"}},
		"no schema":                                {good + `§{"name":"kiln"}`, []string{"no schema"}},
		"an empty schema":                          {good + `§{"schema":"","name":"kiln"}`, []string{"no schema"}},
		"a schema that is no string":               {`§{"schema":1}`, []string{`"schema"`, "not a string"}},
		"a package that is no string":              {`§{"schema":"x","package":["p"]}`, []string{`"package"`, "not a string"}},
		"a name that is null":                      {`§{"schema":"x","name":null}`, []string{`"name"`, "not a string"}},
		"a schema in two spellings":                {`§{"schema":"x","Schema":"y"}`, []string{"Schema", "schema", "differ in case only"}},
		"a default channel that is no string":      {`§{"schema":"olm.package","name":"p","defaultChannel":7}`, []string{"olm.package", "defaultChannel"}},
		"entries that are no list":                 {`§{"schema":"olm.channel","package":"p","name":"c","entries":{}}`, []string{`olm.channel "c"`, "entries"}},
		"an entry that is no object":               {`§{"schema":"olm.channel","package":"p","name":"c","entries":["b"]}`, []string{`olm.channel "c"`, "entries"}},
		"skips that are no list":                   {`§{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b","skips":"a"}]}`, []string{`olm.channel "c"`, "skips"}},
		"an image that is no string":               {`§{"schema":"olm.bundle","package":"p","name":"b","image":{}}`, []string{`olm.bundle "b"`, "image"}},
		"properties that are no list":              {`§{"schema":"olm.bundle","package":"p","name":"b","properties":{}}`, []string{`olm.bundle "b"`, "properties"}},
		"a property type that is no string":        {`§{"schema":"olm.bundle","package":"p","name":"b","properties":[{"type":1,"value":1}]}`, []string{`olm.bundle "b"`, "type"}},
		"related images of another type":           {`§{"schema":"olm.bundle","package":"p","name":"b","relatedImages":[{"image":1}]}`, []string{`olm.bundle "b"`, "image"}},
		"an icon that is not base64":               {`§{"schema":"olm.package","name":"p","icon":{"base64data":"***"}}`, []string{`olm.package "p"`, "base64"}},
		"deprecations of another type":             {`§{"schema":"olm.deprecations","package":"p","entries":[{"message":1}]}`, []string{"olm.deprecations", "message"}},
		"10,001 arrays in each other":              {`{"schema":"x","a":` + strings.Repeat("[", 9_999) + `§[` + strings.Repeat("]", 10_000) + `}`, []string{"nested too deep"}},
		"objects without end in each other":        {`{"schema":"x","a":` + strings.Repeat(`{"a":`, 9_999) + `§{"a":` + strings.Repeat(`{"a":`, 50_000), []string{"nested too deep"}},
		"an object behind a byte order mark":       {"\xef\xbb\xbf" + `{"schema":"x",§}`, []string{"expected a key"}},
		"white space before the fault":             {"\n\n  " + `{"schema":"x",§}`, []string{"expected a key", "begins at byte 4"}},
		"a fault behind the first buffer":          {strings.Repeat(`{"schema":"x"}`+"\n", 40_000) + `{"schema":§oops}`, []string{"expected a value", "begins at byte 600000"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after, ok := strings.Cut(c.text, "§")
			if !ok {
				t.Fatal("the text marks no offset")
			}
			for form, text := range map[string][]byte{"plain": []byte(before + after), "gzip": gzipped(t, []byte(before+after))} {
				x, err := Read(bytes.NewReader(text), Limits{})
				if err == nil {
					t.Fatalf("%s: taken: %s", form, describe(x))
				}
				wantError(t, err, "", int64(len(before)), c.says...)
			}
		})
	}
}

func TestYAMLThatIsNoCatalogIsRefusedAtItsDocument(t *testing.T) {
	good := "schema: olm.package\nname: p\n"
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"a list":                   {"§- schema: olm.package\n", []string{"expected an FBC object"}},
		"a list as the second":     {good + "§---\n- a\n", []string{"expected an FBC object", "- a"}},
		"no YAML":                  {good + "§---\n\tname: x\n", []string{"in the document that begins here"}},
		"a string without an end":  {good + "§---\nschema: \"olm\n", []string{"in the document that begins here"}},
		"no schema":                {good + "§---\nname: p\n", []string{"no schema"}},
		"a name that is a number":  {good + "§---\nschema: x\nname: 1\n", []string{"not a string"}},
		"entries that are no list": {good + "§---\nschema: olm.channel\nname: c\npackage: p\nentries: {}\n", []string{`olm.channel "c"`, "entries"}},
		"aliases without measure":  {"§a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nschema: x\n", []string{"alias"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.text, "§")
			_, err := Read(strings.NewReader(before+after), Limits{})
			wantError(t, err, "", int64(len(before)), c.says...)
		})
	}
}

func TestWhatIsOddButReadableIsTaken(t *testing.T) {
	bundle := func(properties string) string {
		return `{"schema":"olm.bundle","package":"p","name":"b","properties":` + properties + `}`
	}
	for name, c := range map[string]struct{ text, has string }{
		"the schema at the end":              {`{"name":"p","defaultChannel":"c","schema":"olm.package"}`, "package p declared=true default=c"},
		"the schema at the start":            {`{"schema":"olm.package","defaultChannel":"c","name":"p"}`, "package p declared=true default=c"},
		"keys in other case":                 {`{"Schema":"olm.package","NAME":"p","DefaultChannel":"c"}`, "package p declared=true default=c"},
		"keys with escapes":                  {`{"sch\u0065ma":"olm.package","n\u0061me":"p"}`, "package p declared=true"},
		"values with escapes":                {`{"schema":"olm.\u0070ackage","name":"p\u00e9"}`, "package pé declared=true"},
		"a repeated key, the last wins":      {`{"schema":"olm.package","name":"a","name":"p"}`, "package p declared=true"},
		"invalid UTF-8 in a name":            {"{\"schema\":\"olm.package\",\"name\":\"p\xff\"}", "package p\ufffd declared=true"},
		"invalid UTF-8 in a skipped value":   {"{\"schema\":\"olm.package\",\"name\":\"p\",\"description\":\"\xc3\"}", "package p declared=true"},
		"half a surrogate pair":              {`{"schema":"olm.package","name":"p\ud83d"}`, "package p\ufffd declared=true"},
		"null for what may be absent":        {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"b","replaces":null,"skips":null,"skipRange":null}]}`, "entry c b replaces= skips=[] range= bad=false"},
		"no entries":                         {`{"schema":"olm.channel","package":"p","name":"c","entries":null}`, "channel c"},
		"an entry in other case":             {`{"schema":"olm.channel","package":"p","name":"c","entries":[{"Name":"b","SKIPRANGE":"<1.0.0"}]}`, "entry c b replaces= skips=[] range=<1.0.0 bad=false"},
		"a value before its type":            {bundle(`[{"value":{"version":"1.0.0","packageName":"p"},"type":"olm.package"}]`), "bundle b  1.0.0 release= problem= modes"},
		"CSV metadata before its type":       {bundle(`[{"value":{"installModes":[{"supported":true,"type":"AllNamespaces"}]},"type":"olm.csv.metadata"}]`), "modes=24"},
		"an install mode with odd keys":      {bundle(`[{"type":"olm.csv.metadata","value":{"install\u004dodes":[{"supported":false,"supported":true,"type":"AllNamespaces"}]}}]`), "modes=24"},
		"the first of two versions":          {bundle(`[{"type":"olm.package","value":{"version":"1.0.0"}},{"type":"olm.package","value":{"version":"2.0.0"}}]`), "bundle b  1.0.0 release="},
		"the last of repeated versions":      {bundle(`[{"type":"olm.package","value":{"version":"1.0.0","version":"2.0.0"}}]`), "bundle b  2.0.0 release="},
		"a version repeated as null":         {bundle(`[{"type":"olm.package","value":{"version":"1.0.0","version":null}}]`), "bundle b  0.0.0 release= problem=version"},
		"a version in two spellings":         {bundle(`[{"type":"olm.package","value":{"version":"1.0.0","Version":"2.0.0"}}]`), "bundle b  1.0.0 release="},
		"a release of null is no release":    {bundle(`[{"type":"olm.package","value":{"version":"1.0.0+7","release":null}}]`), "bundle b  1.0.0 release=7 problem= "},
		"an empty release keeps the build":   {bundle(`[{"type":"olm.package","value":{"version":"1.0.0+7","release":""}}]`), "bundle b  1.0.0+7 release= problem= "},
		"a release that cannot be read":      {bundle(`[{"type":"olm.package","value":{"version":"1.0.0","release":"01"}}]`), "problem=release"},
		"a version that is a number":         {bundle(`[{"type":"olm.package","value":{"version":1}}]`), "problem=its olm.package property cannot be read"},
		"a version property that is a list":  {bundle(`[{"type":"olm.package","value":[]}]`), "problem=its olm.package property cannot be read"},
		"a version property without a value": {bundle(`[{"type":"olm.package"}]`), "problem=its olm.package property has no value"},
		"no version property":                {bundle(`[]`), "problem=it has no olm.package property"},
		"a property of null":                 {bundle(`[null,{"type":"olm.package","value":{"version":"1.0.0"}}]`), "bundle b  1.0.0 release="},
		"big integers, as catalogd":          {bundle(`[{"type":"olm.constraint","value":{"n":12345678901234567890}}]`), `{olm.constraint {"n":12345678901234567000}}`},
		"10,000 arrays in each other":        {`{"schema":"olm.package","name":"p","a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`, "package p declared=true"},
		"numbers of every kind":              {`{"schema":"olm.package","name":"p","a":[0,-0,1e308,-1.5E-400,0.0,123456789012345678901234567890]}`, "package p declared=true"},
		"only deprecations":                  {`{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.package"},"message":""}]}`, `deprecation olm.package  ""`},
		"a null reference is ignored":        {`{"schema":"olm.deprecations","package":"p","entries":[{"reference":null,"message":"m"}]}`, "package p declared=false default= contained=false"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(mustRead(t, []byte(c.text))); !strings.Contains(got, c.has) {
				t.Errorf("%q is missing in\n%s", c.has, got)
			}
		})
	}
}

// TestEveryByteInAStringIsJudged puts every byte at every place of a string that is longer than what is looked at in
// one step.
func TestEveryByteInAStringIsJudged(t *testing.T) {
	const before, length = `{"schema":"x","a":"`, 40
	for c := range 256 {
		for at := range length {
			inside := bytes.Repeat([]byte{'z'}, length)
			inside[at] = byte(c)
			text := append(append([]byte(before), inside...), `"}`...)
			_, err := Read(bytes.NewReader(text), Limits{})
			if want := json.Valid(text); (err == nil) != want {
				t.Fatalf("byte %#x at %d: %v, encoding/json takes it: %v", c, at, err, want)
			}
			if c < 0x20 {
				wantError(t, err, "", int64(len(before)+at), "control character")
			}
		}
	}
}
