import { UnstyledButton } from '@mantine/core'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { counted } from '../../lib/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import classes from './overview.module.css'

interface Props {
  clientCount: number
  siteCount: number
  isUnfolded: boolean
  onToggle: () => void
}

export function FoldLine({ clientCount, siteCount, isUnfolded, onToggle }: Props) {
  const Chevron = isUnfolded ? ChevronDown : ChevronRight
  return (
    <UnstyledButton className={classes.fold} onClick={onToggle} aria-expanded={isUnfolded}>
      <StatusMark status="ok" />
      <span>
        {counted(clientCount, 'more client')}, all fine
        <span className={classes.muted}> · {counted(siteCount, 'site')}</span>
      </span>
      <Chevron size={16} aria-hidden />
    </UnstyledButton>
  )
}
