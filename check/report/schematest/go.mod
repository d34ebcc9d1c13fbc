module github.com/olmgate/olmgate/check/report/schematest

go 1.26.7

require (
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/securego/gosec/v2 v2.30.0
)

require golang.org/x/text v0.43.0 // indirect
