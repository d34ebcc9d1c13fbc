package report

import (
	"io"

	"sigs.k8s.io/yaml"
)

func init() { Register("yaml", writeYAML) }

func writeYAML(w io.Writer, r *Report, _ Options) error {
	text, err := yaml.Marshal(newDocument(r))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
