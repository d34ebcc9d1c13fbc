package e2e_test

import (
	"os"
	"testing"

	"github.com/olmgate/olmgate/e2e/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Main(m)) }
