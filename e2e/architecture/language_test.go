package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plainWords has words that were only ours, and what the field says instead. A word that is gone everywhere is added here, so that it stays
// away.
var plainWords = map[string]string{
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

// oldNames are where words of before are named as such: flags that are understood for one minor version, and what a version changed.
var oldNames = regexp.MustCompile(`RenamedFlag\(|// as they were called|^\| *"engine-look|\.proto|protobuf_oneof|isOneof`)

// A stranger finds everything under the word that Kubernetes, CSI, NVMe-oF or SPDK has for it.
func TestWordsThatOnlyWeKnewAreGone(t *testing.T) {
	for word, instead := range plainWords {
		pattern := regexp.MustCompile(`\b` + word + `\b`)
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
				if pattern.MatchString(line) && !oldNames.MatchString(line) {
					t.Errorf("%s:%d has %q: write %q", path, i+1, pattern.FindString(line), instead)
				}
			}
			return nil
		}))
	}
}

// written reports whether a file is text of people: not generated, not this list, not what a version changed.
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
