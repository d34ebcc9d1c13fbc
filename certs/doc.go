// Package certs supplies the certificate that the webhook server serves, and makes the API server trust it.
//
// A Source keeps the certificate in memory and renews it; the server asks for it at each handshake. SelfManaged makes
// its own authority and needs nothing but a Secret; Files serves what something else writes to disk.
package certs
