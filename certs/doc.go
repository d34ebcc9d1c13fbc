// Package certs supplies the certificate that the webhook server serves, and sees to it that the API server trusts it.
//
// A Source keeps the certificate in memory and renews it; the server asks for it at each handshake. SelfManaged makes
// its own authority and needs nothing but a Secret, CertManager serves what cert-manager issues, and Files serves what
// something else writes to disk.
//
// API servers learn of a changed caBundle through informers of their own, a moment after it was written. So no source
// that looks after the caBundle serves a certificate of another authority before the caBundle has trusted that
// authority for a settle time, and no authority leaves the caBundle while a certificate of it may still be served.
//
// Clients is the other side of mutual TLS: which clients are let in.
package certs
