/** Rows by their id and by what the indexes say; an index must not change during a row's life. */
export interface Table<Row> {
  get(id: string): Row | undefined;
  put(row: Row): void;
  /** In the order in which they were first put. */
  all(): Row[];
  newest(): Row | undefined;
  by(index: string, value: string): Row[];
  readonly size: number;
  clear(): void;
}

export function createTable<Row extends { readonly id: string }>(
  indexes: Readonly<Record<string, (row: Row) => string | null>> = {},
): Table<Row> {
  const rows = new Map<string, Row>();
  const ids = new Map<string, string[]>();
  let newest: string | null = null;

  return {
    get: (id) => rows.get(id),
    put(row) {
      if (!rows.has(row.id)) {
        newest = row.id;
        for (const [name, valueOf] of Object.entries(indexes)) {
          const value = valueOf(row);
          if (value === null) continue;
          const key = `${name}/${value}`;
          const known = ids.get(key);
          if (known) known.push(row.id);
          else ids.set(key, [row.id]);
        }
      }
      rows.set(row.id, row);
    },
    all: () => [...rows.values()],
    newest: () => (newest === null ? undefined : rows.get(newest)),
    by: (index, value) => (ids.get(`${index}/${value}`) ?? []).flatMap((id) => rows.get(id) ?? []),
    get size() {
      return rows.size;
    },
    clear() {
      rows.clear();
      newest = null;
      ids.clear();
    },
  };
}
