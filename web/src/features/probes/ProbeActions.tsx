import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core'
import { EllipsisVertical, History, Pause, Pencil, Play, Power, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type ProbeRecord, useDeleteProbe, useRunProbe, useUpdateProbe } from '../../api/probes.ts'
import { useSession } from '../../api/session.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { Confirm, ConfirmByName } from '../../ui/Confirm.tsx'
import { LinkButton, LinkMenuItem } from '../../ui/LinkButton.tsx'
import classes from './probes.module.css'

interface ProbeActionsProps {
  probe: ProbeRecord
  onDelete: () => void
}

/** The actions on a probe's page; viewers have none. */
export function ProbeActions({ probe, onDelete }: ProbeActionsProps) {
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

interface RowActionsProps {
  probe: ProbeRecord
  isPhone: boolean
  onDelete: () => void
}

/** The actions in a probe's row; viewers have none. */
export function RowActions({ probe, isPhone, onDelete }: RowActionsProps) {
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

/** A menu entry that resumes a probe, or asks before pausing it, and the dialog, to be rendered outside the menu. */
function useSwitchProbe(probe: ProbeRecord) {
  const update = useUpdateProbe(probe.id)
  const [isAsking, setAsking] = useState(false)
  const item = (
    <Menu.Item
      leftSection={probe.is_active ? <Pause size={16} aria-hidden /> : <Power size={16} aria-hidden />}
      onClick={() => (probe.is_active ? setAsking(true) : update.mutate({ is_active: true }, { onError: showError }))}
    >
      {probe.is_active ? 'Pause …' : 'Resume'}
    </Menu.Item>
  )
  const question = (
    <Confirm
      opened={isAsking}
      onClose={() => setAsking(false)}
      onConfirm={() => update.mutateAsync({ is_active: false })}
      title={`Pause the probe ${probe.name}`}
      action="Pause"
    >
      It does not run, and no one is notified of what it would find, until it is resumed. Its results stay.
    </Confirm>
  )
  return { item, question }
}

interface DeleteProbeProps {
  /** Null while nothing is asked. */
  probe: ProbeRecord | null
  onClose: () => void
  onDeleted?: () => void
}

export function DeleteProbe({ probe, onClose, onDeleted }: DeleteProbeProps) {
  const remove = useDeleteProbe(probe?.id ?? '')
  if (probe === null) return null
  return (
    <ConfirmByName
      opened
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync(undefined)
        onDeleted?.()
      }}
      title={`Delete the probe ${probe.name}`}
      name={probe.name}
      action="Delete the probe"
    >
      Deletes all of its results, and what it has learned. Its alert, if one is open, can no longer resolve
      automatically. To keep them, pause the probe instead.
    </ConfirmByName>
  )
}

const showError = notifyOf()
