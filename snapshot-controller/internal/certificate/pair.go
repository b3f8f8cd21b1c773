package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"time"
)

// backdate is how long before it is made a certificate is valid, for clocks that differ.
const backdate = 5 * time.Minute

// Pair is a certificate and its key, as PEM.
type Pair struct{ Certificate, Key []byte }

// Issue makes a pair for these names and addresses. The certificate signs itself, and is its own authority.
func Issue(random io.Reader, hosts []string, now time.Time, validity time.Duration) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, fmt.Errorf("making the key of the webhook: %w", err)
	}
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, fmt.Errorf("making the serial number of the webhook's certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: hosts[0]},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	certificate, err := x509.CreateCertificate(random, template, template, key.Public(), key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing the webhook's certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("rendering the key of the webhook: %w", err)
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, nil
}

// Load is the pair as a server uses it, with its Leaf.
func (p Pair) Load() (*tls.Certificate, error) {
	loaded, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the webhook's certificate: %w", err)
	}
	if loaded.Leaf == nil {
		if loaded.Leaf, err = x509.ParseCertificate(loaded.Certificate[0]); err != nil {
			return nil, fmt.Errorf("reading the webhook's certificate: %w", err)
		}
	}
	return &loaded, nil
}

// Facts are what is decided by.
type Facts struct {
	// Made and Ends are when it was made and when it expires.
	Made, Ends time.Time
	// Hosts are whom it is for, sorted.
	Hosts []string
}

// facts reads a pair; nil: it is none that can be served. One that is not valid yet was made by a clock that was ahead by more than
// the backdate: every client refuses it until real time has reached it.
func facts(p Pair, now time.Time) *Facts {
	loaded, err := p.Load()
	if err != nil || now.Before(loaded.Leaf.NotBefore) {
		return nil
	}
	f := &Facts{Made: loaded.Leaf.NotBefore.Add(backdate), Ends: loaded.Leaf.NotAfter, Hosts: slices.Clone(loaded.Leaf.DNSNames)}
	for _, ip := range loaded.Leaf.IPAddresses {
		f.Hosts = append(f.Hosts, ip.String())
	}
	slices.Sort(f.Hosts)
	return f
}
