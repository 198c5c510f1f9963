package local

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

// local URL of a port.
func local(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

// freePorts returns n different free ports.
func freePorts(n int) ([]int, error) {
	seen := map[int]bool{}
	ports := make([]int, 0, n)
	for len(ports) < n {
		port, err := process.FreePort()
		if err != nil {
			return nil, err
		}
		if !seen[port] {
			seen[port] = true
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// get fails unless the URL answers with 200 OK.
func get(ctx context.Context, url string) error { return getWith(ctx, http.DefaultClient, url) }

func getWith(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	rsp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close() // Nothing is read.
	if rsp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, rsp.Status)
	}
	return nil
}

// insecureTransport is for the health endpoint of the controller manager, whose certificate exists in its memory only. Nothing secret
// is sent there.
func insecureTransport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // See above.
}
