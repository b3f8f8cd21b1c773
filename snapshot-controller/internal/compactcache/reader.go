package compactcache

import "drover.dev/drover/shared/api/v1beta2"

// reader takes what was written off the front. What it returns shares the memory of the text.
type reader struct{ text string }

func (r *reader) number() int {
	n, shift := 0, 0
	for len(r.text) > 0 {
		b := r.text[0]
		r.text = r.text[1:]
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		shift += 7
	}
	return n
}

func (r *reader) word() string {
	n := min(r.number(), len(r.text))
	out := r.text[:n]
	r.text = r.text[n:]
	return out
}

func (r *reader) bits() (out byte) {
	if len(r.text) > 0 {
		out, r.text = r.text[0], r.text[1:]
	}
	return out
}

func (r *reader) names() map[string]bool {
	count := r.number()
	out := make(map[string]bool, count)
	for range count {
		out[r.word()] = true
	}
	return out
}

func (r *reader) list() map[string]v1beta2.SnapshotInfo {
	count := r.number()
	keys, parents := make([]string, 0, count), make([]int, 0, count)
	infos := make([]v1beta2.SnapshotInfo, 0, count)
	for range count {
		key := r.word()
		info := r.info(key)
		parent := r.number()
		if parent == 0 {
			info.Parent = r.word()
		}
		keys, parents, infos = append(keys, key), append(parents, parent), append(infos, info)
	}
	out := make(map[string]v1beta2.SnapshotInfo, count)
	for i, key := range keys {
		if p := parents[i]; p > 0 {
			infos[i].Parent = keys[p-1]
		}
		out[key] = infos[i]
	}
	return out
}

func (r *reader) info(key string) v1beta2.SnapshotInfo {
	bits := r.bits()
	info := v1beta2.SnapshotInfo{Name: key, Created: r.word(), Size: r.word(), Removed: bits&isRemoved != 0,
		UserCreated: bits&isUserCreated != 0}
	if bits&isNamedOtherwise != 0 {
		info.Name = r.word()
	}
	if bits&hasChildren != 0 {
		info.Children = r.names()
	}
	if bits&hasLabels != 0 {
		info.Labels = map[string]string{}
		for range r.number() {
			label := r.word()
			info.Labels[label] = r.word()
		}
	}
	return info
}
