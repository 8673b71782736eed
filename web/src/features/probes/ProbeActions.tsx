import { ActionIcon, Button, Menu } from '@mantine/core'
import { EllipsisVertical, History, Pencil, Play, Trash2 } from 'lucide-react'
import { type ProbeRecord, useRunProbe } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { LinkButton, LinkMenuItem } from '../../ui/LinkButton.tsx'
import { useSwitchProbe } from './SwitchProbe.tsx'
import { showError } from './show-error.ts'

interface Props {
  probe: ProbeRecord
  onDelete: () => void
}

/** What can be done with a probe, on its page. A viewer can only look. */
export function ProbeActions({ probe, onDelete }: Props) {
  const { mayChange } = useSession()
  const run = useRunProbe(probe.id)
  const switching = useSwitchProbe(probe)
  if (!mayChange) return null
  return (
    <>
      <span className="sr-only" role="status">
        {run.data === undefined ? '' : `It ran: ${run.data.status}. ${run.data.message}`}
      </span>
      <Button
        leftSection={<Play size={16} aria-hidden />}
        loading={run.isPending}
        onClick={() => run.mutate(undefined, { onError: showError })}
      >
        Run now
      </Button>
      <LinkButton
        to="/probes/$probeId/edit"
        params={{ probeId: probe.id }}
        variant="default"
        leftSection={<Pencil size={16} aria-hidden />}
      >
        Edit
      </LinkButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More">
            <EllipsisVertical size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {switching.item}
          <LinkMenuItem
            to="/audit"
            search={{ entity: probe.id } as object}
            leftSection={<History size={16} aria-hidden />}
          >
            Who changed it
          </LinkMenuItem>
          <Menu.Divider />
          <Menu.Item color="danger" leftSection={<Trash2 size={16} aria-hidden />} onClick={onDelete}>
            Delete …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {switching.question}
    </>
  )
}
