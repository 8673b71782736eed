import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { EllipsisVertical, History, Pencil, Play, Trash2 } from 'lucide-react'
import { type ProbeRecord, useRunProbe } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { LinkMenuItem } from '../../ui/LinkButton.tsx'
import classes from './probes.module.css'
import { useSwitchProbe } from './SwitchProbe.tsx'
import { showError } from './show-error.ts'

interface Props {
  probe: ProbeRecord
  isPhone: boolean
  onDelete: () => void
}

/** What can be done with a probe from its row. A viewer can only look. */
export function RowActions({ probe, isPhone, onDelete }: Props) {
  const { mayChange } = useSession()
  const run = useRunProbe(probe.id)
  const switching = useSwitchProbe(probe)
  if (!mayChange) return null
  const runNow = () => run.mutate(undefined, { onError: showError })
  const params = { probeId: probe.id }
  return (
    <div className={classes.actions}>
      {!isPhone && (
        <Tooltip label="Run now">
          <ActionIcon
            variant="subtle"
            color="gray"
            size={32}
            aria-label={`Run ${probe.name} now`}
            loading={run.isPending}
            onClick={runNow}
          >
            <Play size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={32} aria-label={`More for ${probe.name}`}>
            <EllipsisVertical size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isPhone && (
            <Menu.Item leftSection={<Play size={16} aria-hidden />} onClick={runNow}>
              Run now
            </Menu.Item>
          )}
          <LinkMenuItem to="/probes/$probeId" params={params} leftSection={<History size={16} aria-hidden />}>
            Results
          </LinkMenuItem>
          <LinkMenuItem to="/probes/$probeId/edit" params={params} leftSection={<Pencil size={16} aria-hidden />}>
            Edit
          </LinkMenuItem>
          {switching.item}
          <Menu.Divider />
          <Menu.Item color="danger" leftSection={<Trash2 size={16} aria-hidden />} onClick={onDelete}>
            Delete …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {switching.question}
    </div>
  )
}
