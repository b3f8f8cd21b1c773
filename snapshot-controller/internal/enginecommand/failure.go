package enginecommand

import (
	"errors"
	"regexp"
	"strings"
)

// Errors that a command's failure may be.
var (
	// ErrNotFound is the engine's answer that it finds no such backup, or volume, in the target.
	ErrNotFound = errors.New("not found in the target")
	// ErrInProgress is its answer about a backup that is still being taken.
	ErrInProgress = errors.New("the backup is still in progress")
	// ErrNoBinary is that the engine's binary cannot be run here.
	ErrNoBinary = errors.New("no engine binary")
	// ErrTimeout is that the command was ended, since it took longer than it may.
	ErrTimeout = errors.New("no answer in time")
	// ErrUnreadable is that the command succeeded and its answer cannot be read.
	ErrUnreadable = errors.New("unreadable answer")
	// ErrRefused is any other failure that the engine reports.
	ErrRefused = errors.New("refused")
)

// Failure is why a command gave no answer.
type Failure struct {
	// Kind is one of the errors above.
	Kind error
	// Text is what the engine wrote, or why it could not be run, without any credential.
	Text string
}

// Error implements error.
func (f *Failure) Error() string { return f.Text }

// Unwrap returns the kind.
func (f *Failure) Unwrap() error { return f.Kind }

// What engines answer, in the words of the engine.
const (
	textNotFound   = "cannot find "
	textInProgress = "in progress"
)

// kindOf returns which failure a refusal of the engine is.
func kindOf(text string) error {
	switch {
	case strings.HasPrefix(text, textNotFound) && strings.HasSuffix(text, ".cfg in backupstore"):
		return ErrNotFound
	case strings.HasPrefix(text, "backup ") && strings.HasSuffix(text, textInProgress):
		return ErrInProgress
	}
	return ErrRefused
}

// longestText is how much of an engine's answer is shown to people.
const longestText = 600

// internals is what engines print of their own memory: it helps nobody, and differs each time.
var internals = regexp.MustCompile(`&\{.*\}`)

// shown returns a refusal as it may be shown: in one line, not too long, and without the values of these variables.
func shown(text string, env []string) string {
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if len(value) >= leastSecret && isSecret(name) {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	text = internals.ReplaceAllString(strings.Join(strings.Fields(text), " "), "…")
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "") + "…"
	}
	return text
}

// leastSecret is the length from which on a value is taken out of texts: a shorter one is in many words.
const leastSecret = 4

// isSecret reports whether the variable holds what nobody may read.
func isSecret(name string) bool {
	for _, word := range []string{"KEY", "SECRET", "PASSWORD", "CERT", "PROXY"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
