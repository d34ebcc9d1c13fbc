package config

import (
	"reflect"
	"strings"
)

// fieldsOf are the names of the fields of the struct at a path, nil when there is none.
func fieldsOf(path string) []string {
	t := reflect.TypeFor[OlmgateConfiguration]()
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' }) {
		f, ok := field(t, name)
		if !ok {
			return nil
		}
		t = f.Type
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		names = append(names, jsonName(t.Field(i)))
	}
	return names
}

func field(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for i := range t.NumField() {
		if jsonName(t.Field(i)) == name {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// typeName is what a person calls a type of this package.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text; put it in quotes"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a map of fields"
	}
	return "a whole number"
}
