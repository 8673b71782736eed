import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { EmptyState } from '../ui/EmptyState.tsx'

export function NotFound() {
  return (
    <EmptyState
      icon={Compass}
      title="Page not found"
      action={
        <Button component={Link} to="/">
          Go to the overview
        </Button>
      }
    >
      The link may be old, or what it led to was deleted.
    </EmptyState>
  )
}
