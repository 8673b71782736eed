import { useNavigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'

/**
 * Returns a function that navigates after saving or deleting, unless the user has gone to another page meanwhile. It compares addresses,
 * because the component may be unmounted before the answer arrives.
 */
export function useLeadOn(): ReturnType<typeof useNavigate> {
  const navigate = useNavigate()
  const router = useRouter()
  const [here] = useState(() => router.latestLocation.pathname)
  return async (options) => {
    if (router.latestLocation.pathname === here) await navigate(options)
  }
}
