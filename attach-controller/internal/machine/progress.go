package machine

// progress keeps what a new volume takes its data from.
func (p *pass) progress() {
	if p.v.Spec.FromBackup != "" {
		p.restore()
	}
	if p.v.Spec.DataSource != "" {
		p.clone()
	}
}
