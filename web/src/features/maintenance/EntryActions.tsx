import { ActionIcon, Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { EllipsisVertical } from 'lucide-react'
import { useState } from 'react'
import { useEndSilence } from '../../api/alerts.ts'
import { type MaintenanceRecord, useChangeMaintenance, useDeleteMaintenance } from '../../api/maintenance.ts'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { type Entry, stateOf } from './entries.ts'

interface Props {
  entry: Entry
  onEdit: (id: string) => void
}

/** What can be done with an entry. What is over can only be looked at. */
export function EntryActions({ entry, onEdit }: Props) {
  const end = useEndSilence()
  if (entry.kind === 'maintenance') return <MaintenanceActions record={entry.record} onEdit={onEdit} />
  const state = stateOf(entry)
  if (state === 'over') return null
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={end.isPending}
      onClick={() => end.mutate(entry.record.id, { onError: failed })}
    >
      {state === 'now' ? 'End now' : 'Delete'}
    </Button>
  )
}

function MaintenanceActions({ record, onEdit }: { record: MaintenanceRecord; onEdit: (id: string) => void }) {
  const [isDeleting, setDeleting] = useState(false)
  const change = useChangeMaintenance()
  const remove = useDeleteMaintenance()
  const { id, title, kind, is_active, is_under_way } = record
  const set = (changes: { is_active: boolean } | { ends_at: string }) =>
    change.mutate({ id, ...changes }, { onError: failed })
  return (
    <>
      {is_under_way && kind === 'once' ? (
        <Button
          size="compact-sm"
          variant="default"
          loading={change.isPending}
          onClick={() => set({ ends_at: new Date().toISOString() })}
        >
          End now
        </Button>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => onEdit(id)}>
          Edit
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={26} aria-label={`More about ${title}`}>
            <EllipsisVertical size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onEdit(id)}>Edit</Menu.Item>
          <Menu.Item onClick={() => set({ is_active: !is_active })}>{is_active ? 'Suspend' : 'Resume'}</Menu.Item>
          <Menu.Item color="danger" onClick={() => setDeleting(true)}>
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmByName
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutateAsync(id)}
        title={`Delete ${title}`}
        name={title}
        action="Delete it"
      >
        Ends all of its windows, including the current one. Alerts that are still open are then notified. Results it
        marked keep its name.
      </ConfirmByName>
    </>
  )
}

const failed = ({ message }: Error) => notifications.show({ color: 'danger', title: 'Nothing was changed', message })
