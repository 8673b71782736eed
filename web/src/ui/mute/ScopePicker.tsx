import '@mantine/core/styles/SimpleGrid.layer.css'
import { Select, SimpleGrid } from '@mantine/core'
import { useMayChange } from '../../api/session.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { clearButton } from '../clear-button.ts'
import type { Scope } from './mutes.ts'
import { aboveOf } from './scope.ts'

interface Props {
  value: Scope
  onChange: (scope: Scope) => void
  error?: string | undefined
}

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }
/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

/** Chooses a client, one of its sites, or one of a site's probes. */
export function ScopePicker({ value, onChange, error }: Props) {
  const directory = useDirectory()
  const mayChangeOf = useMayChange()
  const { clientId, siteId } = aboveOf(value, directory)
  const sites = Object.values(directory.sites).filter((site) => site.client_id === clientId)
  const probes = siteId === null ? [] : (directory.sites[siteId]?.probes ?? [])
  const same = { searchable: true, limit: SHOWN }
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
      <Select
        {...same}
        label="Client"
        placeholder="Choose one"
        data={options(Object.values(directory.clients).filter(({ id }) => mayChangeOf(id)))}
        value={clientId}
        onChange={(id) => onChange({ ...NONE, client_id: id })}
        error={error !== undefined && clientId === null ? 'Choose a client' : error}
        withAsterisk
      />
      <Select
        {...same}
        label="Site"
        placeholder="All sites"
        clearable
        clearButtonProps={clearButton('All sites')}
        disabled={clientId === null}
        data={options(sites)}
        value={siteId}
        onChange={(id) => onChange(id === null ? { ...NONE, client_id: clientId } : { ...NONE, site_id: id })}
      />
      <Select
        {...same}
        label="Probe"
        placeholder="All probes"
        clearable
        clearButtonProps={clearButton('All probes')}
        disabled={siteId === null}
        data={options(probes)}
        value={value.probe_id}
        onChange={(id) => onChange(id === null ? { ...NONE, site_id: siteId } : { ...NONE, probe_id: id })}
      />
    </SimpleGrid>
  )
}

const options = (entries: readonly { id: string; name: string }[]) =>
  entries.map(({ id, name }) => ({ value: id, label: name }))
