package architecture

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// plainWords maps private words to the field's words. A word that was removed from the whole repository is added here, so that it does not
// return.
var plainWords = map[string]string{
	`[Hh]ands`:                          "executor",
	`[Jj]udg(e|es|ed|ing|ements?)`:      "evaluate, evaluation",
	`([Tt]old|[Tt]ells)`:                "reported, reports",
	`[Ss]econd looks?`:                  "re-verification",
	`[Ss]tor(y|ies)`:                    "scenario",
	`[Cc]hapters?`:                      "section",
	`[Ss]trangers?`:                     "object of a previous volume",
	`[Tt]wins?`:                         "duplicate",
	`[Nn]eighbou?rs?`:                   "peer controller",
	`[Ss]tandin`:                        "election",
	`[Pp]lant(s|ed|ing)?`:               "mutant",
	`([Cc]ombs?|[Tt]rials?)`:            "crash sweep, case",
	`[Aa]new`:                           "again",
	`quarantin\w*`:                      "post-election delay",
	`past the cache`:                    "uncached",
	`xhands`:                            "executor",
	`[Hh]appenings?`:                    "Event",
	`rulings?`:                          "rule result",
	`goOn`:                              "resumeIO",
	`heir`:                              "hasHealthySuccessor",
	`vindicat\w*`:                       "clearFailed",
	`[Rr]ebuild-?[Pp]atience`:           "rebuild stall timeout",
	`[Jj]udgement-?[Ww]ait`:             "evaluation wait",
	`oneof`:                             "enumflag",
	`DroverNobodyAttachesForKubernetes`: "DroverCSIAttacherNoLeader",
}

// oldNames matches lines that name an old word on purpose: flags that are accepted for one more minor version, and changelogs.
var oldNames = regexp.MustCompile(`RenamedFlag\(|// as they were called|^\| *"engine-look|\.proto|protobuf_oneof|isOneof|` +
	`judge-snapshot`)

// A newcomer finds everything under the word that Kubernetes, CSI, NVMe-oF or SPDK uses.
func TestSourcesUseTheFieldsWords(t *testing.T) {
	pattern := regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(plainWords)), "|") + `)\b`)
	forEachLine(t, func(path string, number int, line string) {
		if found := pattern.FindString(line); found != "" && !oldNames.MatchString(line) {
			t.Errorf("%s:%d has %q: write %q", path, number, found, instead(found))
		}
	})
}

// longLines matches lines that may be long, as in .golangci.yml: markers and raw text are one line each.
var longLines = regexp.MustCompile("^\\s*//\\s*\\+kubebuilder|^//go:generate|`|patch lhva archive")

func TestLinesFitTheScreen(t *testing.T) {
	forEachLine(t, func(path string, number int, line string) {
		if filepath.Ext(path) != ".go" || filepath.Base(path) == "moverules.go" || longLines.MatchString(line) {
			return
		}
		if columns := utf8.RuneCountInString(line); columns > 140 {
			t.Errorf("%s:%d has %d columns: break it at 140", path, number, columns)
		}
	})
}

// forEachLine calls do for each line that people wrote; the first one has number 1.
func forEachLine(t *testing.T, do func(path string, number int, line string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !written(path, entry) {
			if entry != nil && entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			do(path, i+1, line)
		}
		return nil
	}))
}

// instead is what the field says for a word that plainWords matches.
func instead(found string) string {
	for word, plain := range plainWords {
		if regexp.MustCompile(`^(` + word + `)$`).MatchString(found) {
			return plain
		}
	}
	return ""
}

// written reports whether people write the file: it is not generated, not this list, not a changelog.
func written(path string, entry fs.DirEntry) bool {
	if entry.IsDir() || strings.HasSuffix(path, ".pb.go") || filepath.Base(path) == "CHANGELOG.md" ||
		filepath.Base(path) == "language_test.go" {
		return false
	}
	switch filepath.Ext(path) {
	case ".go", ".md", ".yaml", ".sh":
		return true
	}
	return false
}
