package ranger

import "slices"

// embedded is the service definition of a well-known service type, as far as
// masks and filters need it: the levels and their matching, the access types
// and the mask types. It is nil for a type that is not known.
func embedded(name string) *serviceDef {
	switch name {
	case "hive":
		return tableService(name, []string{"database", "table", "column"}, []level{{name: "udf", parent: "database", opts: defaultOptions}}, false,
			[]string{"select", "update", "create", "drop", "alter", "index", "lock", "read", "write", "repladmin", "serviceadmin", "refresh"},
			[]string{"tempudfadmin"}, hiveMasks("{col}"))
	case "trino", "presto":
		return tableService(name, []string{"catalog", "schema", "table", "column"}, nil, true,
			[]string{"select", "insert", "create", "delete", "drop", "use", "alter", "grant", "revoke", "show", "impersonate", "execute", "read_sysinfo", "write_sysinfo"},
			nil, trinoMasks())
	case "nestedstructure":
		d := tableService(name, []string{"schema", "field"}, nil, false, []string{"read", "write"}, nil, hiveMasks("{field}"))
		d.accesses = []access{{name: "read"}, {name: "write"}}
		d.mask.accesses = []string{"read"}
		d.filter.accesses = []string{"read", "write"}
		return d
	case "tag":
		tag := level{name: "tag", opts: defaultOptions}
		tag.opts.wildCard, tag.opts.ignoreCase = false, false
		d := &serviceDef{name: name, levels: []level{tag}, conditions: map[string]conditionDef{
			"expression": {"expression", "org.apache.ranger.plugin.conditionevaluator.RangerScriptConditionEvaluator"},
		}}
		d.mask.levels, d.filter.levels = d.levels, d.levels
		return d
	}
	return nil
}

// tableService is a service whose resources are a chain of levels down to the
// column. wildCard is whether masks and filters may name levels by pattern.
func tableService(name string, chain []string, more []level, wildCard bool, implied, other []string, masks []maskType) *serviceDef {
	d := &serviceDef{name: name, conditions: map[string]conditionDef{}}
	parent := ""
	for _, n := range chain {
		l := level{name: n, parent: parent, opts: defaultOptions}
		d.levels = append(d.levels, l)
		l.opts.wildCard = wildCard
		d.mask.levels = append(d.mask.levels, l)
		parent = n
	}
	d.filter.levels = slices.Clone(d.mask.levels[:len(chain)-1])
	d.levels = append(d.levels, more...)
	for _, a := range append(slices.Clone(implied), other...) {
		d.accesses = append(d.accesses, access{name: a})
	}
	d.accesses = append(d.accesses, access{"all", implied})
	d.mask.accesses, d.filter.accesses = []string{"select"}, []string{"select"}
	d.mask.masks = masks
	return d
}

func hiveMasks(col string) []maskType {
	return []maskType{
		{"MASK", "mask(" + col + ")"},
		{"MASK_SHOW_LAST_4", "mask_show_last_n(" + col + ", 4, 'x', 'x', 'x', -1, '1')"},
		{"MASK_SHOW_FIRST_4", "mask_show_first_n(" + col + ", 4, 'x', 'x', 'x', -1, '1')"},
		{"MASK_HASH", "mask_hash(" + col + ")"},
		{maskNull, ""}, {maskNone, ""},
		{"MASK_DATE_SHOW_YEAR", "mask(" + col + ", 'x', 'x', 'x', -1, '1', 1, 0, -1)"},
		{maskCustom, ""},
	}
}

// trinoMasks are written as the expressions that standardMasks maps the
// definitions' SQL to.
func trinoMasks() []maskType {
	return []maskType{
		{"MASK", "mask({col},'X','x','0')"},
		{"MASK_SHOW_LAST_4", "mask_show_last_n({col},4,'X','X','X','X')"},
		{"MASK_SHOW_FIRST_4", "mask_show_first_n({col},4,'X','X','X','X')"},
		{"MASK_HASH", "hex(digest({col},'sha256'))"},
		{maskNull, ""}, {maskNone, ""},
		{"MASK_DATE_SHOW_YEAR", "mask({col},'x','x','x',-1,'1',1,0,-1)"},
		{maskCustom, ""},
	}
}
