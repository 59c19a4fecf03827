"""What AWS asks for, with the day and the source of each price; what is not known has no price."""
