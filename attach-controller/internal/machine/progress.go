package machine

// progress runs what fills a new volume with data.
func (p *pass) progress() {
	if p.v.Spec.FromBackup != "" {
		p.restore()
	}
	if p.v.Spec.DataSource != "" {
		p.clone()
	}
}
