package guides

import (
	"regexp"
	"strings"
)

// Each of these differs from run to run: it is replaced by a word before outputs are compared.
var changing = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "ADDRESS"},
	{regexp.MustCompile(`\b[0-9a-f]{16,64}\b`), "ID"},
	{regexp.MustCompile(`-r-[0-9a-f]{8}\b`), "-r-ID"},
	{regexp.MustCompile(`(?:^|\b)<invalid>|\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`), "AGE"},
	{regexp.MustCompile(`\b\d+(\.\d+)?\b`), "N"},
	{regexp.MustCompile(`[─-╿]+`), "-"},
	{regexp.MustCompile(`\s+`), " "},
}

// shape is a line without what differs from run to run.
func shape(line string) string {
	line = strings.TrimSpace(line)
	for _, c := range changing {
		line = c.pattern.ReplaceAllString(line, c.word)
	}
	return line
}

// unlike compares an output with what a page shows, line by line, and returns the first shown line that it does not have. "…" stands for
// anything in its line; a line of "…" alone for any number of lines. While a command that never ends is followed, lines may lie between
// the shown ones.
func unlike(shown []string, output string, follows bool) (missing string, differs bool) {
	got := strings.Split(strings.TrimRight(output, "\n"), "\n")
	at, any := 0, follows
	for _, line := range shown {
		if strings.TrimSpace(line) == "…" {
			any = true
			continue
		}
		found := at
		for found < len(got) && !matches(line, got[found]) {
			found++
		}
		if found == len(got) || found > at && !any {
			return line, true
		}
		at, any = found+1, follows
	}
	if at < len(got) && !any && strings.Join(got[at:], "") != "" {
		return "(nothing more, but there is: " + got[at] + ")", true
	}
	return "", false
}

func matches(shown, got string) bool {
	parts := strings.Split(shown, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.TrimSpace(shape(parts[i])))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(shape(got))
}
