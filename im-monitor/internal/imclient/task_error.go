package imclient

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// taskError is why an engine did not begin a restore that its server answered with OK. It is text, or of v1 JSON with the error of each
// replica; nil is none. A replica that restores the backup already, or has it, lacks nothing.
func taskError(answer []byte) error {
	var task struct {
		ReplicaErrors []struct{ Address, Message string }
	}
	if err := json.Unmarshal(answer, &task); err != nil || len(task.ReplicaErrors) == 0 {
		text := strings.TrimSpace(string(answer))
		if text == "" || text == "null" || isHarmless(text) {
			return nil
		}
		return errors.New(text)
	}
	var failed []string
	for _, one := range task.ReplicaErrors {
		if !isHarmless(one.Message) {
			failed = append(failed, one.Address+": "+one.Message)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return errors.New(strings.Join(failed, "; "))
}

// isHarmless reports whether a server refused a restore since it is done, or being done. A purge or a rebuild in progress is another
// reason.
func isHarmless(text string) bool {
	text = strings.ToLower(text)
	other := strings.Contains(text, "purg") || strings.Contains(text, "rebuil")
	return strings.Contains(text, "already restored") || strings.Contains(text, "in progress") && !other
}
