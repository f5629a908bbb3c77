package report

import (
	"os"
	"path/filepath"
)

// Write draws the run in the folder records into the repository at root:
// bench/report/index.html with its plots, the records behind it, and the tables
// in the documents. Plots of an earlier page are removed.
func Write(records, root string) error {
	r, err := Load(records)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "bench", "report")
	if err := r.Save(filepath.Join(dir, "records")); err != nil {
		return err
	}
	// What is drawn is what was saved, digits and all.
	if r, err = Load(filepath.Join(dir, "records")); err != nil {
		return err
	}
	files, err := r.Page()
	if err != nil {
		return err
	}
	if err := removeAll(filepath.Join(dir, "*.svg")); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return r.updateDocuments(root)
}
