// Package node has what a whole node does without Longhorn's manager: its disks, and the directories of replicas on them.
package node
