package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// maxInput bounds one file in bytes: a Secret has at most 1 MiB, and a contract is smaller.
const maxInput = 16 << 20

// load contracts and Secrets. Errors name the file and the document. Those of a Secret repeat nothing of it: what does not parse may be a
// value. Those of a contract say what is wrong with it.
func load(stdin io.Reader, files []string) ([]v1alpha1.SecretContract, map[types.NamespacedName]*corev1.Secret, error) {
	var contracts []v1alpha1.SecretContract
	secrets := map[types.NamespacedName]*corev1.Secret{}
	for _, f := range files {
		b, err := content(stdin, f)
		if err != nil {
			return nil, nil, err
		}
		r := kyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b)))
		for n := 1; ; n++ {
			doc, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, nil, fmt.Errorf("file %q, document %d: cannot be read", f, n)
			}
			kind := struct {
				Kind string `json:"kind"`
			}{}
			if err := yaml.Unmarshal(doc, &kind); err != nil {
				return nil, nil, fmt.Errorf("file %q, document %d: is no YAML object", f, n)
			}
			switch kind.Kind {
			case "SecretContract":
				c := v1alpha1.SecretContract{}
				if err := yaml.UnmarshalStrict(doc, &c); err != nil {
					return nil, nil, fmt.Errorf("file %q, document %d: is no SecretContract: %w", f, n, err)
				}
				contracts = append(contracts, c)
			case "Secret":
				s := &corev1.Secret{}
				if err := yaml.Unmarshal(doc, s); err != nil {
					return nil, nil, fmt.Errorf("file %q, document %d: is no Secret", f, n)
				}
				secrets[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = plain(s)
			}
		}
	}
	if len(contracts) == 0 {
		return nil, nil, errors.New("no file has a SecretContract")
	}
	return contracts, secrets, nil
}

func content(stdin io.Reader, name string) ([]byte, error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cannot open file: %w", err)
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("file %q: cannot be read", name)
	}
	if len(b) > maxInput {
		return nil, fmt.Errorf("file %q: is larger than %d bytes", name, maxInput)
	}
	return b, nil
}

// plain puts stringData into data, as the API server does.
func plain(s *corev1.Secret) *corev1.Secret {
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for k, v := range s.StringData {
		s.Data[k] = []byte(v)
	}
	return s
}
