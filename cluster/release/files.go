package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// checksumsFile lists the checksums of all other files of a release, as sha256sum does.
const checksumsFile = "checksums.txt"

// writeChecksums of all files in a folder, in the order of their names.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot read release folder: %w", err)
	}
	var out bytes.Buffer
	for _, e := range entries {
		sum, err := fileHash(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, e.Name())
	}
	return writeFile(filepath.Join(dir, checksumsFile), out.Bytes())
}

// fileHash is the SHA-256 of a file in hexadecimal.
func fileHash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot open file to hash: %w", err)
	}
	defer f.Close() // Only read.
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot hash %q: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func writeJSON(path string, v any) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("cannot encode %q: %w", filepath.Base(path), err)
	}
	return writeFile(path, out.Bytes())
}

func writeFile(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("cannot write file of the release: %w", err)
	}
	return nil
}
