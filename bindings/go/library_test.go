package quorate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestAnotherInterfaceEndsTheProgram(t *testing.T) {
	checkABI(3, 3)
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "interface 4") || !strings.Contains(text, "interface 3") {
			t.Errorf("found %q", text)
		}
	}()
	checkABI(4, 3)
	t.Error("another interface was accepted")
}

func TestVersion(t *testing.T) {
	if strings.Count(Version(), ".") != 2 {
		t.Errorf("found %q, expected three numbers", Version())
	}
}

func TestErrorsCompareByCode(t *testing.T) {
	err := fmt.Errorf("outer: %w", &Error{CodeEncoding, "some bytes"})
	if !errors.Is(err, ErrEncoding) || errors.Is(err, ErrMisuse) || errors.Is(ErrClosed, ErrMisuse) {
		t.Error("errors compare wrongly")
	}
	var own *Error
	if !errors.As(err, &own) || own.Text != "some bytes" || own.Error() != "quorate: some bytes" {
		t.Errorf("found %v", own)
	}
}

func TestBuildWithoutCgoSaysWhy(t *testing.T) {
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if err == nil || len(lines) != 2 || !strings.Contains(lines[1], "needs_cgo") {
		t.Errorf("found %v:\n%s", err, output)
	}
}

func TestTheReadmeShowsAnExampleThatRuns(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	code, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("README.md has no example")
	}
	if own := strings.Join(strings.Fields(code), " "); !strings.Contains(strings.Join(strings.Fields(string(examples)), " "), own) {
		t.Errorf("example_test.go does not have the example of README.md:\n%s", code)
	}
}
