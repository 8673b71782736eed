import { useMemo, useState } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import type { InboxRow } from './inbox.ts'

/** The open alerts that were picked; one that is open no more, or shown no more, leaves the selection. */
export function useSelection(rows: readonly InboxRow[]) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const open = useMemo(
    () => rows.flatMap((row) => (row.kind === 'alert' && row.alert.state === 'open' ? [row.key] : [])),
    [rows],
  )
  const selected = useMemo(() => new Set(open.filter((id) => picked.has(id))), [open, picked])
  return {
    selected,
    openCount: open.length,
    toggle({ id, state }: AlertRecord) {
      if (state !== 'open') return
      const next = new Set(selected)
      if (!next.delete(id)) next.add(id)
      setPicked(next)
    },
    all: () => setPicked(new Set(open)),
    clear: () => setPicked(new Set()),
  }
}
