import { Select } from '@mantine/core'
import type { Directory } from '../lib/use-directory.ts'
import { clearButton } from './clear-button.ts'

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

interface Props {
  directory: Directory
  /** Empty for all. */
  client: string
  onChange: (client: string) => void
}

/** Chooses one client, or all. */
export function ClientSelect({ directory, client, onChange }: Props) {
  const data = Object.values(directory.clients).map(({ id, name }) => ({ value: id, label: name }))
  // The address may name one that is deleted or paused, which must not be shown as "all".
  if (data.length > 0 && client !== '' && directory.clients[client] === undefined)
    data.push({ value: client, label: 'Unknown, or paused' })
  return (
    <Select
      aria-label="Client"
      placeholder="All clients"
      data={data}
      value={client === '' ? null : client}
      onChange={(id) => onChange(id ?? '')}
      searchable
      clearable
      clearButtonProps={clearButton('All clients')}
      limit={SHOWN}
      nothingFoundMessage="No client has this name"
    />
  )
}
