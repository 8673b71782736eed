import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { type AuditFilter, auditCsvUrl } from '../../api/audit.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { ClientSelect } from '../../ui/ClientSelect.tsx'
import classes from './audit.module.css'

const DAY_MS = 86_400_000
const PERIODS = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '365', label: 'Last year' },
]
const DAYS = ['', ...PERIODS.map(({ value }) => value)]
const TYPING_MS = 300

/** The filter in the page's address. A period starts at the beginning of its day, so that it stays the same while the page is open. */
export function useAuditFilter(): AuditFilter {
  const [entity] = useUrlState('entity', '')
  const [client] = useUrlState('client', '')
  const [actor] = useUrlState('actor', '')
  const [days] = useUrlState('days', '', DAYS)
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  return {
    ...(entity === '' ? {} : { entity_id: entity }),
    ...(client === '' ? {} : { client_id: client }),
    ...(actor === '' ? {} : { actor }),
    ...(days === '' ? {} : { from: new Date(today - Number(days) * DAY_MS).toISOString() }),
  }
}

/** Filters by person, client and time, and a link to download the entries. */
export function AuditFilters() {
  const directory = useDirectory()
  const filter = useAuditFilter()
  const [client, setClient] = useUrlState('client', '', undefined, { push: true })
  const [actor, setActor] = useUrlState('actor', '', undefined, { push: true })
  const [days, setDays] = useUrlState('days', '', DAYS, { push: true })
  const [typed, setTyped] = useState(actor)
  const [sent, setSent] = useState(actor)
  const [seen, setSeen] = useState(actor)
  // Follows the address, such as after "back", but not what was sent from here: more may have been typed by then.
  if (seen !== actor) {
    setSeen(actor)
    if (sent !== actor) {
      setSent(actor)
      setTyped(actor)
    }
  }
  const later = useDebouncedCallback((text: string) => {
    setSent(text)
    setActor(text)
  }, TYPING_MS)
  return (
    <div className={classes.filters}>
      <ClientSelect directory={directory} client={client} onChange={setClient} />
      <TextInput
        aria-label="Changed by"
        placeholder="Anyone"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          later(event.currentTarget.value.trim())
        }}
      />
      <Select
        aria-label="Period"
        placeholder="Any time"
        data={PERIODS}
        clearable
        clearButtonProps={{ 'aria-label': 'Any time' }}
        value={days === '' ? null : days}
        onChange={(value) => setDays(value ?? '')}
      />
      <Button
        component="a"
        href={auditCsvUrl(filter)}
        download="audit.csv"
        variant="default"
        leftSection={<Download size={16} aria-hidden />}
      >
        CSV
      </Button>
    </div>
  )
}
