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
			if found := pattern.FindString(line); found != "" && !oldNames.MatchString(line) {
				t.Errorf("%s:%d has %q: write %q", path, i+1, found, instead(found))
			}
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
