// Package config holds OlmgateConfiguration, the configuration file of olmgate serve. Decoding is strict: a field that
// does not exist, stands twice or has a wrong value is an error that names its path. What a file leaves out keeps its
// default.
package config
