// Package docs holds that the documentation is true where a program can tell: links lead somewhere, and commands work.
//
// The commands of all pages are run as a reader would run them, page after page, against a local control plane of the test's own. It is
// as bare as the cluster of somebody who begins with docs/getting-started.md: of the product nothing is installed. Comments in the pages,
// which readers do not see, say of the few blocks that cannot be run why that is so.
package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	// The pages call OpenBao's command line and psql, which are this executable under other names.
	switch filepath.Base(os.Args[0]) {
	case "bao":
		os.Exit(baoMain(os.Args[1:]))
	case "psql":
		os.Exit(psqlMain(os.Args[1:]))
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
