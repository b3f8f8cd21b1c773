package machine

// progress runs what fills a new volume with data.
func (p *pass) progress() {
	if p.Volume.Spec.FromBackup != "" {
		p.restore()
	}
	if p.Volume.Spec.DataSource != "" {
		p.clone()
	}
}
