import { Menu } from '@mantine/core'
import { Pause, Power } from 'lucide-react'
import { useState } from 'react'
import { type ProbeRecord, useUpdateProbe } from '../../api/probes.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { showError } from './show-error.ts'

/** The entry of a menu that switches a probe on, or asks before it switches it off; and the question, for beside the menu. */
export function useSwitchProbe(probe: ProbeRecord) {
  const update = useUpdateProbe(probe.id)
  const [isAsking, setAsking] = useState(false)
  const item = (
    <Menu.Item
      leftSection={probe.is_active ? <Pause size={16} aria-hidden /> : <Power size={16} aria-hidden />}
      onClick={() => (probe.is_active ? setAsking(true) : update.mutate({ is_active: true }, { onError: showError }))}
    >
      {probe.is_active ? 'Switch off …' : 'Switch on'}
    </Menu.Item>
  )
  const question = (
    <Confirm
      opened={isAsking}
      onClose={() => setAsking(false)}
      onConfirm={() => update.mutateAsync({ is_active: false })}
      title={`Switch off the probe ${probe.name}`}
      action="Switch off"
    >
      It does not run, and no one is notified of what it would find, until it is switched on again. Its results stay.
    </Confirm>
  )
  return { item, question }
}
