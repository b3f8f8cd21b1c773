package inventory

import "github.com/prometheus/client_golang/prometheus"

var (
	managersDescription = prometheus.NewDesc("drover_im_monitor_instance_managers",
		"Instance managers by whether their inventory is known: known, unknown.", []string{"inventory"}, nil)
	instancesDescription = prometheus.NewDesc("drover_im_monitor_instances",
		"Runtime instances in all known inventories.", nil, nil)
)

// Describe makes an Inventory a prometheus.Collector.
func (i *Inventory) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- managersDescription
	descriptions <- instancesDescription
}

// Collect counts what is known at this moment.
func (i *Inventory) Collect(metrics chan<- prometheus.Metric) {
	known, unknown, instances := 0, 0, 0
	i.mu.RLock()
	for _, m := range i.members {
		m.mu.Lock()
		if m.latest == nil {
			unknown++
		} else {
			known++
			instances += m.latest.Instances.Len()
		}
		m.mu.Unlock()
	}
	i.mu.RUnlock()
	metrics <- prometheus.MustNewConstMetric(managersDescription, prometheus.GaugeValue, float64(known), "known")
	metrics <- prometheus.MustNewConstMetric(managersDescription, prometheus.GaugeValue, float64(unknown), "unknown")
	metrics <- prometheus.MustNewConstMetric(instancesDescription, prometheus.GaugeValue, float64(instances))
}
