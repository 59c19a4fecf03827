"""EC2 instances, as far as moto lacks them: whole launch templates, reservations, limits."""
