package config

import (
	"fmt"
	"time"
)

// maxSettle keeps a rotation from taking longer than anybody watches.
const maxSettle = time.Hour

func (c *OlmgateConfiguration) clientCA(errs *Errors) {
	if ca := c.Webhook.ClientCA; ca.File == "" && len(ca.AllowedNames) > 0 {
		errs.add("webhook.clientCA.file", "is missing: allowedNames mean nothing without a CA")
	}
}

func (c *OlmgateConfiguration) certificates(errs *Errors) {
	const path = "certificates."
	certs := c.Certificates
	oneOf(errs, path+"source", certs.Source, SourceSelfManaged, SourceCertManager, SourceFiles)
	settle := duration(errs, path+"settle", certs.Settle)
	if settle > maxSettle {
		errs.add(path+"settle", fmt.Sprintf("is %s, must be at most %s", certs.Settle, maxSettle))
	}
	authority := duration(errs, path+"selfManaged.authorityLifetime", certs.SelfManaged.AuthorityLifetime)
	serving := duration(errs, path+"selfManaged.servingLifetime", certs.SelfManaged.ServingLifetime)
	switch {
	case settle == 0 || serving == 0 || authority == 0: // said already
	case serving < 6*settle:
		errs.add(path+"selfManaged.servingLifetime", fmt.Sprintf("is %s, must be at least six times settle: %s", certs.SelfManaged.ServingLifetime, 6*settle))
	case authority < 3*serving:
		errs.add(path+"selfManaged.authorityLifetime", fmt.Sprintf("is %s, must be at least three times servingLifetime: %s", certs.SelfManaged.AuthorityLifetime, 3*serving))
	}
	if f := certs.Files; (f.CertFile == "") != (f.KeyFile == "") {
		errs.add(path+"files", "certFile and keyFile belong together: give both")
	} else if f.CertFile != "" && certs.Source != SourceFiles {
		errs.add(path+"files", fmt.Sprintf("is given, and source is %s: set source to %s, or leave the files out", certs.Source, SourceFiles))
	}
}

// duration is 0 when the value is none.
func duration(errs *Errors, path string, value Duration) time.Duration {
	d, err := value.Duration()
	if err != nil {
		errs.add(path, err.Error())
	}
	return d
}
