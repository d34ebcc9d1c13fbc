package check

import (
	"embed"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// crdFiles are the CRDs of operator-controller's module, of the standard channel. A test compares them with it.
//
//go:embed crds/*.yaml
var crdFiles embed.FS

// Files of the CRDs, by kind.
var crdFile = map[string]string{
	kindExtension: "crds/olm.operatorframework.io_clusterextensions.yaml",
	kindCatalog:   "crds/olm.operatorframework.io_clustercatalogs.yaml",
}

// crd validates objects of one kind as the API server does.
type crd struct {
	structural *structuralschema.Structural
	schema     validation.SchemaCreateValidator
	cel        *cel.Validator
}

// compiled are the CRDs that were needed, each compiled once: that takes longer than to check many objects.
var compiled = map[string]func() *crd{
	kindExtension: sync.OnceValue(func() *crd { return mustCompile(kindExtension) }),
	kindCatalog:   sync.OnceValue(func() *crd { return mustCompile(kindCatalog) }),
}

// mustCompile panics on a CRD that cannot be compiled: a test compiles all.
func mustCompile(kind string) *crd {
	c, err := compile(kind)
	if err != nil {
		panic(fmt.Sprintf("the CRD of %s: %v", kind, err))
	}
	return c
}

func compile(kind string) (*crd, error) {
	text, err := crdFiles.ReadFile(crdFile[kind])
	if err != nil {
		return nil, err
	}
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.CustomResourceDefinition
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&v1)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&v1, &internal, nil); err != nil {
		return nil, err
	}
	schema, err := apiextensions.GetSchemaForVersion(&internal, v1.Spec.Versions[0].Name)
	if err != nil {
		return nil, err
	}
	// The status is another subresource: what a manifest says of it is dropped before it is looked at.
	delete(schema.OpenAPIV3Schema.Properties, "status")
	c := &crd{}
	if c.structural, err = structuralschema.NewStructural(schema.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	if c.schema, _, err = validation.NewSchemaValidator(schema.OpenAPIV3Schema); err != nil {
		return nil, err
	}
	c.cel = cel.NewValidator(c.structural, true, celconfig.PerCallLimit)
	return c, nil
}
