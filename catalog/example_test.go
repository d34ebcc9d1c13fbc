package catalog_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/olmgate/olmgate/catalog"
)

const kilns = `{"schema":"olm.package","name":"kiln-operator","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kiln-operator","name":"stable","entries":[{"name":"kiln-operator.v1.0.0"},{"name":"kiln-operator.v1.1.0","replaces":"kiln-operator.v1.0.0"}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.0.0","image":"example.com/kiln:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"kiln-operator","name":"kiln-operator.v1.1.0","image":"example.com/kiln:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"kiln-operator","version":"1.1.0+2"}}]}
`

func ExampleRead() {
	index, err := catalog.Read(strings.NewReader(kilns), catalog.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	pkg := index.Package("kiln-operator")
	fmt.Println("default channel:", pkg.DefaultChannel)
	for _, e := range pkg.Channel("stable").Entries {
		b := pkg.Bundles[e.Bundle]
		fmt.Printf("%s: version %s, release %q, replaces %q\n", b.Name, b.Version, b.Release, e.Replaces)
	}
	// Output:
	// default channel: stable
	// kiln-operator.v1.0.0: version 1.0.0, release "", replaces ""
	// kiln-operator.v1.1.0: version 1.1.0, release "2", replaces "kiln-operator.v1.0.0"
}

func ExampleRead_refused() {
	_, err := catalog.Read(strings.NewReader(`{"schema":"olm.package","name":kiln}`), catalog.Limits{})
	fmt.Println(err)
	var at *catalog.Error
	if errors.As(err, &at) {
		fmt.Println("offset:", at.Offset)
	}
	// Output:
	// byte 31: expected a value, in the object that begins at byte 0
	// offset: 31
}

func ExampleReadFS() {
	files := fstest.MapFS{ // os.DirFS("catalog") for a real directory
		"kiln/catalog.jsonl":  {Data: []byte(kilns)},
		"kiln/notes.txt":      {Data: []byte("for people")},
		".indexignore":        {Data: []byte("*.txt\n")},
		"oven/package.yaml":   {Data: []byte("schema: olm.package\nname: oven-operator\n")},
		"oven/channels/a.yml": {Data: []byte("schema: olm.channel\npackage: oven-operator\nname: a\n")},
	}
	index, err := catalog.ReadFS(files, catalog.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range index.Packages() {
		fmt.Println(p.Name, len(p.Channels), "channel,", len(p.Bundles), "bundles")
	}
	// Output:
	// kiln-operator 1 channel, 2 bundles
	// oven-operator 1 channel, 0 bundles
}

func ExampleIndex_Encode() {
	index, err := catalog.Read(strings.NewReader(kilns), catalog.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	var disk bytes.Buffer
	if err := index.Encode(&disk); err != nil {
		log.Fatal(err)
	}
	damaged := bytes.Replace(disk.Bytes(), []byte("index-1"), []byte("index-0"), 1)
	_, err = catalog.Decode(bytes.NewReader(damaged), catalog.Limits{})
	fmt.Println(err)
	again, err := catalog.Decode(&disk, catalog.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Stats().Bundles, "bundles")
	// Output:
	// damaged index: not an index of this version
	// 2 bundles
}
