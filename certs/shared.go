package certs

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Keys of the Secret of SelfManaged, besides those of a TLS Secret and caKey.
const (
	nextCertKey = "ca-next.crt"
	nextKeyKey  = "ca-next.key"
)

// Annotations of the Secrets that olmgate writes.
const (
	// RotateAnnotation on the Secret of SelfManaged asks for a new authority, once for each value.
	RotateAnnotation = "olmgate.dev/rotate"
	// rotatedAnnotation is the value of RotateAnnotation that was seen to.
	rotatedAnnotation = "olmgate.dev/rotated"
	// sinceAnnotation is when the authorities in use changed last, in RFC 3339.
	sinceAnnotation = "olmgate.dev/since"
	// settledAnnotation is the mark of the authorities that every API server trusts.
	settledAnnotation = "olmgate.dev/settled"
)

// shared is what the replicas share through the Secret of SelfManaged.
type shared struct {
	// current signs serving certificates; nil when it is missing or damaged.
	current *authority
	// next will sign them once every API server trusts it; nil when there is no rotation.
	next *authority
	// ledger is what caBundle shall hold. Its since is when current became what it is, or later.
	ledger
	// rotate and rotated are the values of the annotations.
	rotate, rotated string
}

// readShared takes what can be read; the error says why there is no current authority.
func readShared(secret *corev1.Secret) (shared, error) {
	var s shared
	if secret == nil {
		return s, errMissing
	}
	s.rotate, s.rotated = secret.Annotations[RotateAnnotation], secret.Annotations[rotatedAnnotation]
	s.ledger = readLedger(secret)
	s.next, _ = parseAuthority(secret.Data[nextCertKey], secret.Data[nextKeyKey])
	if len(secret.Data) == 0 {
		return s, errEmpty
	}
	var err error
	s.current, err = parseAuthority(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err == nil && !s.trusted.has(s.current.cert) {
		s.since = time.Time{}
	}
	return s, err
}

// data and annotations are what the Secret shall hold.
func (s shared) data() map[string][]byte {
	data := map[string][]byte{
		corev1.TLSCertKey: s.current.certPEM, corev1.TLSPrivateKeyKey: s.current.keyPEM, caKey: s.trusted.encode(),
		nextCertKey: nil, nextKeyKey: nil,
	}
	if s.next != nil {
		data[nextCertKey], data[nextKeyKey] = s.next.certPEM, s.next.keyPEM
	}
	return data
}

func (s shared) annotations() map[string]string {
	a := s.ledger.annotations()
	if s.rotated != "" {
		a[rotatedAnnotation] = s.rotated
	}
	return a
}
